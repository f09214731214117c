import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { MemoryTimeline } from "../testing/memory-timeline.ts";
import { timelineSuite } from "../testing/timeline-suite.ts";
import { TimelineWriter } from "./index.ts";

for (const pageSize of [256, 8192]) {
  timelineSuite(`the page file with pages of ${pageSize} bytes`, () =>
    TimelineWriter.open(new ForgetfulDisk(), "/timeline", { digestSize: 1, pageSize }),
  );
}
timelineSuite("the model that answers later", () => new MemoryTimeline());
