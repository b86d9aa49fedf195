package org.slf4j.impl;

/** What hbase-spark asks of slf4j 1, beside slf4j 2, which has it no more. */
public final class StaticLoggerBinder {
  private static final StaticLoggerBinder ONE = new StaticLoggerBinder();

  private StaticLoggerBinder() {}

  public static StaticLoggerBinder getSingleton() {
    return ONE;
  }

  public String getLoggerFactoryClassStr() {
    return "of slf4j 2";
  }
}
