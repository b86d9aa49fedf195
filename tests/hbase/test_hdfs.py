"""The places of HDFS: a real one under the program, and HBase on it."""



def test_two_region_servers_on_hdfs(hbase_on_hdfs, hdfs):
    assert hbase_on_hdfs.ready() == 2
    assert "hbase.version" in hdfs.list("/hbase")
