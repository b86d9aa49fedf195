package org.slf4j.impl;

/** The slf4j 1 class that hbase-spark needs, because slf4j 2 lacks this class. */
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
