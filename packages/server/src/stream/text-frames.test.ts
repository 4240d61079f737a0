import type { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import * as ws from "ws";
import { textFrames } from "./text-frames.js";

/** The library's reader, which its types do not show. */
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Writable };

describe("text frames", () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])(
    "of %i bytes are read as what they are",
    async (length) => {
      const texts = ["first", "ä".repeat(length / 2) + "x".repeat(length % 2), "last €"];
      const { all, each } = textFrames(texts);
      const read: string[] = [];
      const receiver = new Receiver({ isServer: false });
      receiver.on("message", (data: Buffer) => read.push(data.toString()));
      await new Promise<void>((resolve) => receiver.write(all, () => resolve()));
      expect(read).toEqual(texts);
      expect(Buffer.concat([...each]).equals(all)).toBe(true);
    },
  );

  it("keep no more memory than they have, however small they are", () => {
    const kept = Array.from({ length: 100 }, (_, number) => {
      // What a process does between two frames takes memory from the pool too.
      Buffer.from("x".repeat(3000));
      return textFrames([`frame ${number}`]).all;
    });
    const memory = new Set(kept.map(({ buffer }) => buffer));
    const bytes = (all: Iterable<{ byteLength: number }>) =>
      [...all].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes(memory)).toBe(bytes(kept));
  });
});
