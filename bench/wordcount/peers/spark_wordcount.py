"""WordCount in Spark SQL, local mode: split, explode, groupBy. See peer.py."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def main():
    args = peer.arguments()
    spark = (SparkSession.builder.master(f"local[{args.parallelism}]").appName("wordcount")
             .config("spark.driver.memory", "4g")
             .config("spark.ui.enabled", "false")
             .config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.driver.host", "127.0.0.1")
             .config("spark.sql.shuffle.partitions", str(args.parallelism))
             .config("spark.sql.files.maxPartitionBytes", str(128 << 20))
             .config("spark.log.level", "ERROR")
             .getOrCreate())

    def job(file, out):
        (spark.read.text(file)
         .select(f.explode(f.split("value", " ")).alias("word"))
         .where("word != ''")
         .groupBy("word").count()
         .select(f.concat_ws("\t", "word", f.col("count").cast("string")).alias("value"))
         .write.text(out))

    peer.measure("spark", pyspark.__version__, job, args)
    spark.stop()


main()
