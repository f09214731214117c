/** Addresses of blocks, one a line, from a stream of bytes however it is cut. */
import { ArchiveError } from "../base/index.ts";
import { type BlockAddress, parseBlockAddress } from "../store/index.ts";

/** Longer than any address. */
const LINE_LENGTH_MAX = 256;

export class AddressLines {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private text = "";
  private at = 0;

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.chunks = chunks;
  }

  /** Absent where more bytes are needed. Throws HT_USAGE for a line that is no address. */
  take(): BlockAddress | undefined {
    const end = this.text.indexOf("\n", this.at);
    if (end < 0) {
      if (this.text.length - this.at <= LINE_LENGTH_MAX) return undefined;
      throw new ArchiveError("HT_USAGE", `a line of more than ${LINE_LENGTH_MAX} characters`);
    }
    const line = this.text.slice(this.at, this.text[end - 1] === "\r" ? end - 1 : end);
    this.at = end + 1;
    return parseBlockAddress(line);
  }

  /** Waits for more; false at the end. The last line may lack its end. */
  async fill(): Promise<boolean> {
    const { done, value } = await this.chunks.next();
    const rest = this.text.slice(this.at);
    this.at = 0;
    if (done !== true) {
      this.text = rest + Buffer.from(value.buffer, value.byteOffset, value.length).toString("latin1");
      return true;
    }
    this.text = rest === "" ? "" : `${rest}\n`;
    return rest !== "";
  }
}
