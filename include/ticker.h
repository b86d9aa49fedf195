/*
 * ticker.h - a thread that does something every so often until it is stopped
 */
#ifndef SALTMILL_TICKER_H
#define SALTMILL_TICKER_H

struct ticker;
/* tick(ctx) every every_ms, the first time after as long. */
struct ticker *ticker_start(int every_ms, void (*tick)(void *ctx), void *ctx);
/* No tick after it returns.  NULL is fine. */
void ticker_stop(struct ticker *t);

#endif
