import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

/** A frame as a client would send it, any part of which can be wrong. */
export interface RawFrame {
  opcode: number;
  payload?: Buffer | string;
  isFinal?: boolean;
  /** The three reserved bits, as the first byte has them: 0x40, 0x20, 0x10. */
  reserved?: number;
  isMasked?: boolean;
  /** What the header says of the length, where that is not true. */
  claimedLength?: bigint;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export function frame({ opcode, payload = "", claimedLength, ...flags }: RawFrame): Buffer {
  const { isFinal = true, isMasked = true, reserved = 0 } = flags;
  const bytes = Buffer.from(payload);
  const length = claimedLength ?? BigInt(bytes.length);
  const first = (isFinal ? 0x80 : 0) | reserved | opcode;
  const maskBit = isMasked ? 0x80 : 0;
  const header = Buffer.alloc(length < 126n ? 2 : length < 65_536n ? 4 : 10);
  header[0] = first;
  if (header.length === 2) header[1] = maskBit | Number(length);
  else if (header.length === 4) {
    header[1] = maskBit | 126;
    header.writeUInt16BE(Number(length), 2);
  } else {
    header[1] = maskBit | 127;
    header.writeBigUInt64BE(length, 2);
  }
  if (!isMasked) return Buffer.concat([header, bytes]);
  const mask = randomBytes(4);
  return Buffer.concat([header, mask, bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

export const text = (payload: string | Buffer) => frame({ opcode: opcodes.text, payload });

/** A stream whose client is nothing but a socket. */
export interface RawStream {
  socket: Socket;
  /** The texts of the messages that have come. */
  messages: () => string[];
  /** The code of the close frame, when the service has closed the connection; undefined where there was none. */
  closed: Promise<number | undefined>;
}

/** The lines of a handshake that would be taken. */
export const handshake: Readonly<Record<string, string>> = {
  Host: "a",
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol": "bursar.v1.json",
};

export function handshakeBytes(lines: readonly string[], requestLine = "GET /v1/stream HTTP/1.1"): string {
  return `${[requestLine, ...lines].join("\r\n")}\r\n\r\n`;
}

/** Opens a stream with a good handshake; whatever is behind it goes out in the same packet. */
export async function openRawStream(
  url: string,
  token: string,
  behind: Buffer = Buffer.alloc(0),
  { answersClose = true }: { answersClose?: boolean } = {},
): Promise<RawStream> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    // A farewell is answered, or the service would wait for that.
    if (answersClose && frames().some(({ opcode }) => opcode === opcodes.close))
      socket.end(frame({ opcode: opcodes.close }));
  });
  const lines = Object.entries({ ...handshake, Authorization: `Bearer ${token}` });
  const bytes = handshakeBytes(lines.map(([name, value]) => `${name}: ${value}`));
  const afterHead = () => received.indexOf("\r\n\r\n") + 4;
  const frames = () => (afterHead() < 4 ? [] : readFrames(received.subarray(afterHead())));
  const closed = new Promise<number | undefined>((resolve) => {
    socket.once("close", () => {
      const last = frames().find(({ opcode }) => opcode === opcodes.close);
      resolve(last?.payload.readUInt16BE(0));
    });
  });
  socket.write(Buffer.concat([Buffer.from(bytes), behind]));
  return {
    socket,
    messages: () => frames().flatMap(({ opcode, payload }) => (opcode === 1 ? [payload.toString()] : [])),
    closed,
  };
}

/** What a server sends: whole frames, without masks. */
function readFrames(bytes: Buffer): { opcode: number; payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const headerLength = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (at + headerLength > bytes.length) break;
    const length =
      short === 126
        ? bytes.readUInt16BE(at + 2)
        : short === 127
          ? Number(bytes.readBigUInt64BE(at + 2))
          : short;
    const start = at + headerLength;
    if (start + length > bytes.length) break;
    frames.push({ opcode: (bytes[at] ?? 0) & 0x0f, payload: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return frames;
}
