import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's file system of the local disk, which sets permissions by a system call. Without its native library, which is in no
 * jar, Hadoop starts `chmod` for each new file and folder.
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
  }
}
