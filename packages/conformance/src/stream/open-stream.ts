import { WebSocket } from "ws";
import { type Kit, urlOf } from "../engine/kit.js";
import { parseJson } from "../http/reply.js";
import type { RequestToSend } from "../http/send.js";
import type { StreamTarget } from "../target/target.js";

/** An open stream. Everything that was sent and received is listed as the body of its exchange when it is closed. */
export interface Stream {
  readonly messages: readonly unknown[];
  readonly send: (message: object) => void;
  readonly isClosed: () => boolean;
  readonly close: () => void;
}

export type OpenedStream = { readonly stream: Stream } | { readonly refused: string };

const messageBytesMax = 1 << 20;
const messagesMax = 5000;
const transcriptCharactersMax = 200_000;

/** Opens a WebSocket. A redirect is not followed, nothing is compressed, and a message that is too large ends the stream. */
export function openStream(
  kit: Kit,
  target: StreamTarget,
  options: { readonly authorization?: string | null } = {},
): Promise<OpenedStream> {
  const { authorization = `Bearer ${kit.session.token}` } = options;
  const url = urlOf(kit.target.baseUrl, target.path);
  const own: [string, string][] = authorization === null ? [] : [["Authorization", authorization]];
  const { timeoutMs, finish } = kit.begin(shownRequest(url, own, target.protocol));
  const transcript = createTranscript();
  const messages: unknown[] = [];
  return new Promise((resolve) => {
    const socket = new WebSocket(
      toWebSocketUrl(url),
      target.protocol === undefined ? [] : [target.protocol],
      {
        headers: Object.fromEntries(own),
        handshakeTimeout: timeoutMs,
        maxPayload: messageBytesMax,
        perMessageDeflate: false,
        followRedirects: false,
      },
    );
    let isDone = false;
    const end = (status: number, failure?: string) => {
      if (isDone) return;
      isDone = true;
      socket.terminate();
      const body = Buffer.from(transcript.text());
      finish(failure === undefined ? { response: { status, headers: [], body } } : { failure });
    };
    const refuse = (reason: string, status?: number) => {
      end(status ?? 0, status === undefined ? reason : undefined);
      resolve({ refused: reason });
    };
    socket.on("unexpected-response", (outgoing, incoming) => {
      outgoing.destroy();
      refuse(`status ${incoming.statusCode}`, incoming.statusCode ?? 0);
    });
    socket.on("error", (error) => {
      transcript.add("!", error.message);
      refuse(error.message);
    });
    socket.on("message", (data) => {
      if (isDone) return;
      const text = data.toString();
      transcript.add("<", text);
      messages.push(parseJson(text));
      if (messages.length >= messagesMax) end(101);
    });
    socket.on("close", (code) => {
      transcript.add("!", `closed with ${code}`);
      end(101);
    });
    socket.on("open", () =>
      resolve({
        stream: {
          messages,
          send: (message) => {
            transcript.add(">", JSON.stringify(message));
            if (!isDone) socket.send(JSON.stringify(message));
          },
          isClosed: () => isDone,
          close: () => end(101),
        },
      }),
    );
  });
}

function toWebSocketUrl(url: URL): string {
  return url.href.replace(/^http/, "ws");
}

/** The request as curl would repeat it. */
function shownRequest(
  url: URL,
  own: readonly [string, string][],
  protocol: string | undefined,
): RequestToSend {
  const headers: [string, string][] = [
    ...own,
    ["Connection", "Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Version", "13"],
    ["Sec-WebSocket-Key", "Y29uZm9ybWFuY2Uta2l0IQ=="],
  ];
  if (protocol !== undefined) headers.push(["Sec-WebSocket-Protocol", protocol]);
  return { method: "GET", url, headers };
}

/** What was sent (`>`), received (`<`) and happened (`!`), up to a bound. */
function createTranscript() {
  const lines: string[] = [];
  let characters = 0;
  return {
    add: (mark: string, text: string) => {
      if (characters > transcriptCharactersMax) return;
      characters += text.length;
      lines.push(`${mark} ${text}`);
    },
    text: () => lines.join("\n"),
  };
}
