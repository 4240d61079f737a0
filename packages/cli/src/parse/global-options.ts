import type { Option } from "../commands/command.js";

/** The options of every command. */
export const globalOptions: readonly Option[] = [
  {
    name: "profile",
    value: "name",
    about: "the profile to use; `sandbox` is the one that runs from this folder",
  },
  { name: "client", value: "name", about: "which of the sandbox's clients to use" },
  {
    name: "url",
    value: "url",
    about: "another service; its secret comes from BURSAR_CLIENT_SECRET or a prompt",
  },
  { name: "client-id", value: "id", about: "the client at that service" },
  { name: "json", about: "print one JSON document" },
  { name: "jsonl", about: "print one line of JSON for each item" },
  { name: "yes", about: "do not ask before money is moved" },
  { name: "verbose", about: "show each request on the error stream" },
  { name: "help", about: "show the usage" },
];
