import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's file system of the local disk, which sets and reads permissions by system calls. Without its native library, which
 * is in no jar, Hadoop starts `chmod` for each new file and folder, and `ls` for each file that a client loads.
 */
public class Local extends LocalFileSystem {
  public Local() {
    super(new Raw());
  }

  private static class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission p) throws IOException {
      Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(
        p.getUserAction().SYMBOL + p.getGroupAction().SYMBOL + p.getOtherAction().SYMBOL));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return new Status(super.getFileStatus(path), pathToFile(path).toPath());
    }
  }

  private static class Status extends FileStatus {
    private final transient java.nio.file.Path file;

    Status(FileStatus s, java.nio.file.Path file) throws IOException {
      super(s.getLen(), s.isDirectory(), s.getReplication(), s.getBlockSize(), s.getModificationTime(), s.getPath());
      this.file = file;
    }

    private PosixFileAttributes read() {
      try {
        return Files.readAttributes(file, PosixFileAttributes.class);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public FsPermission getPermission() {
      return FsPermission.valueOf("-" + PosixFilePermissions.toString(read().permissions()));
    }

    @Override
    public String getOwner() {
      return read().owner().getName();
    }

    @Override
    public String getGroup() {
      return read().group().getName();
    }
  }
}
