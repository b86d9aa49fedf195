/* page_script.h - what the page can do besides where scripts may run; without it nothing is missing
 */
#ifndef SALTMILL_PAGE_PAGE_SCRIPT_H
#define SALTMILL_PAGE_PAGE_SCRIPT_H

extern const char page_script[];

#endif
