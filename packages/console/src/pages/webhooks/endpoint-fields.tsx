import type { WebhookEndpoint } from "@bursar/client";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { kinds } from "../events/event-rows";
import type { EndpointFields, FieldName } from "./endpoint-edit";

type Kind = WebhookEndpoint["events"][number];

interface EndpointInputsProps {
  fields: EndpointFields;
  error: unknown;
  onField: <Name extends FieldName>(name: Name, value: EndpointFields[Name]) => void;
}

/** The inputs of the form of an endpoint. */
export function EndpointInputs({
  fields: { url, description, events },
  error,
  onField,
}: EndpointInputsProps) {
  const isAll = events.includes("*");
  const toggle = (kind: Kind) =>
    onField(
      "events",
      events.includes(kind)
        ? events.filter((one) => one !== kind)
        : [...events.filter((one) => one !== "*"), kind],
    );
  return (
    <>
      <TextField
        label="URL"
        hint="The https address of your receiver; the sandbox also takes http on this machine. It is asked to answer a challenge before anything is sent."
        fault={faultOf(error, "url")}
        inputMode="url"
        autoComplete="off"
        maxLength={2048}
        value={url}
        onValue={(text) => onField("url", text.trim())}
      />
      <TextField
        label="Description"
        fault={faultOf(error, "description")}
        maxLength={256}
        value={description}
        onValue={(text) => onField("description", text)}
      />
      <fieldset className="checks">
        <legend>Events</legend>
        <label>
          <input type="checkbox" checked={isAll} onChange={() => onField("events", isAll ? [] : ["*"])} />{" "}
          all, also future kinds
        </label>
        {kinds.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              disabled={isAll}
              checked={isAll || events.includes(kind)}
              onChange={() => toggle(kind)}
            />{" "}
            {kind}
          </label>
        ))}
      </fieldset>
    </>
  );
}
