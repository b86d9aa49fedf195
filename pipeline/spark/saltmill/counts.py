"""Rows and bytes of tasks in Spark's UI (Input, Output).

PySpark has no metrics for the input and output of Python tasks.  So the bytes from Python pass through a Java function
of the JVM (SOURCE).  This function takes out the frames of tasks.counts_of, and adds them to the metrics of the task.  Janino,
which is a part of Spark, compiles the function in the driver.
"""

import os
import tempfile
import warnings
import zipfile

from py4j.protocol import Py4JError
from pyspark.rdd import _load_from_socket
from pyspark.serializers import NoOpSerializer

SOURCE = """
import java.nio.ByteBuffer;
import java.util.Iterator;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.executor.TaskMetrics;

public final class SaltmillCounts implements FlatMapFunction, Iterator {
    private static final long serialVersionUID = 1L;
    private transient Iterator frames;
    private transient byte[] found;

    public Iterator call(Object frames) {
        SaltmillCounts counts = new SaltmillCounts();
        counts.frames = (Iterator) frames;
        return counts;
    }

    public boolean hasNext() {
        while (this.found == null && this.frames.hasNext()) {
            byte[] frame = (byte[]) this.frames.next();
            if (!add(frame)) this.found = frame;
        }
        return this.found != null;
    }

    public Object next() {
        if (!this.hasNext()) throw new java.util.NoSuchElementException();
        byte[] frame = this.found;
        this.found = null;
        return frame;
    }

    public void remove() {
        throw new UnsupportedOperationException();
    }

    private static boolean add(byte[] frame) {
        byte[] magic = "saltmill counts".getBytes();
        if (frame.length != 48 || frame[15] != 0) return false;
        for (int i = 0; i < magic.length; i++) if (frame[i] != magic[i]) return false;
        ByteBuffer counts = ByteBuffer.wrap(frame, 16, 32);
        TaskMetrics task = TaskContext.get().taskMetrics();
        task.inputMetrics().incBytesRead(counts.getLong());
        task.inputMetrics().incRecordsRead(counts.getLong());
        task.outputMetrics().setBytesWritten(task.outputMetrics().bytesWritten() + counts.getLong());
        task.outputMetrics().setRecordsWritten(task.outputMetrics().recordsWritten() + counts.getLong());
        return true;
    }
}
"""

_functions = {}  # the function of each application; None means that the application has none


def function_of(sc):
    """Return the Java function, or None if this Spark cannot have it.  The load then works without counts."""
    if sc.applicationId not in _functions:
        try:
            _functions[sc.applicationId] = make(sc)
        except (Py4JError, OSError) as e:
            _functions[sc.applicationId] = None
            warnings.warn(f"saltmill: Spark's UI will show no rows and bytes of this load: {str(e).splitlines()[0]}")
    return _functions[sc.applicationId]


def make(sc):
    """Compile the function and send its class to all executors."""
    compiler = sc._jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(sc._jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(SOURCE)
    folder = tempfile.mkdtemp(prefix="saltmill-counts-", dir=sc._temp_dir)  # Spark removes its folder
    jar = os.path.join(folder, "saltmill-counts.jar")
    with zipfile.ZipFile(jar, "w") as z:
        for name, code in dict(compiler.getBytecodes()).items():
            z.writestr(f"{name}.class", bytes(code))
    sc._jsc.addJar(jar)
    return compiler.getClassLoader().loadClass("SaltmillCounts").newInstance()


def counted(rdd, function):
    """Return the RDD of bytes in Java, without the frames with counts."""
    return rdd._jrdd.mapPartitions(function) if function else rdd._jrdd


def collect(rdd, function, partitions):
    """Run a job, and return the bytes of these partitions.  None means all partitions."""
    sc, java = rdd.ctx, counted(rdd, function)
    if partitions is None:
        partitions = range(java.partitions().size())
    done = sc._jvm.PythonRDD.runJob(sc._jsc.sc(), java, list(partitions))
    return list(_load_from_socket(done, NoOpSerializer()))

