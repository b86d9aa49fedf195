/*
 * who.h - as whom servers of Hadoop are asked
 */
#ifndef SALTMILL_WHO_H
#define SALTMILL_WHO_H

/* told, or else $HADOOP_USER_NAME, or who runs this (its number when it has no name); the caller's.
 */
char *who_acts(const char *told);

#endif
