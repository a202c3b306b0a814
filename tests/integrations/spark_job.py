"""A streaming job that tests start and kill: ``python spark_job.py FOLDER``."""

import sys
from pathlib import Path

import fullswap as fs
from fullswap.integrations.spark import recalibrate, session
from spark_cases import PAGES, SETTINGS


def main(folder: Path) -> None:
    spark = session("job", SETTINGS)
    schema = "key string, time long, p double, y double"
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    frame = recalibrate(
        source.parquet(str(folder / "in")),
        key="key", time="time", probability="p", outcome="y",
        pattern=fs.Recalibrator(seed=7), pages=PAGES,
    )  # fmt: skip
    writer = frame.writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "out")).awaitTermination()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
