import { Authenticate, type ErrorDetail, Unsubscribe } from "@bursar/protocol";
import type { TSchema } from "typebox";
import { readJson } from "../app/requests/read-json.js";
import type { Refused } from "../app/requests/refused.js";
import type { Channel } from "./channel.js";

/** Compiles a schema into a check that says what is wrong with a value. */
export type CompileCheck = (schema: TSchema) => (value: unknown) => ErrorDetail[];

/** What a client has sent, in the form that its schema asks for. */
export type ClientMessage =
  | { type: "subscribe"; id?: string; channel: string; definition: Channel; message: unknown }
  | { type: "unsubscribe"; id?: string; channel: string }
  | { type: "authenticate"; id?: string; token: string };

/** A message that was refused; with its id, if one could be read. */
interface RefusedMessage extends Refused {
  id?: string;
}

export type ReadMessage = (text: string) => ClientMessage | RefusedMessage;

const depthMax = 4;
const idLengthMax = 64;

export function createMessageReader(channels: readonly Channel[], compile: CompileCheck): ReadMessage {
  const checks = {
    unsubscribe: compile(Unsubscribe),
    authenticate: compile(Authenticate),
  };
  const definitions = new Map(
    channels.map((channel) => [channel.name, { channel, check: compile(channel.schema) }]),
  );

  function readSubscribe(value: Envelope): ClientMessage | Refused {
    const { channel } = value;
    if (typeof channel !== "string")
      return invalid([{ path: "message.channel", reason: "must be a string" }]);
    const definition = definitions.get(channel.split(":", 1)[0] ?? "");
    if (definition === undefined) return { refused: "CHANNEL_UNKNOWN" };
    const faults = definition.check(value);
    if (faults.length > 0) return invalid(faults);
    return { type: "subscribe", ...idOf(value), channel, definition: definition.channel, message: value };
  }

  function read(value: Envelope): ClientMessage | Refused {
    switch (value.type) {
      case "subscribe":
        return readSubscribe(value);
      case "unsubscribe":
      case "authenticate": {
        const faults = checks[value.type](value);
        return faults.length > 0 ? invalid(faults) : (value as ClientMessage);
      }
      default:
        return invalid([
          { path: "message.type", reason: "must be one of subscribe, unsubscribe, authenticate" },
        ]);
    }
  }

  return (text) => {
    const reading = readJson(text, depthMax);
    if ("fault" in reading) return { refused: "MALFORMED_JSON", message: reading.fault };
    const { value } = reading;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return invalid([{ path: "message", reason: "must be an object" }]);
    const message = read(value);
    return "refused" in message ? { ...message, ...idOf(value) } : message;
  };
}

interface Envelope {
  type?: unknown;
  id?: unknown;
  channel?: unknown;
}

function idOf({ id }: Envelope): { id?: string } {
  return typeof id === "string" && id.length <= idLengthMax ? { id } : {};
}

function invalid(details: ErrorDetail[]): Refused {
  return { refused: "INVALID_REQUEST", message: "The message does not match its schema.", details };
}
