import { Fact, Facts } from "../../ui/panels/facts";
import { Address } from "../../ui/values/address";
import { NamedClientId } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";

/** Every member of the change, as it is approved. */
export function ChangeFacts({ change }: { change: object }) {
  return (
    <Facts>
      {Object.entries(change).map(([name, value]) => (
        <Fact key={name} name={titleOf(name)}>
          <ChangedValue name={name} value={value} />
        </Fact>
      ))}
    </Facts>
  );
}

/** `null` is a value: what it is set to must be seen. */
function ChangedValue({ name, value }: { name: string; value: unknown }) {
  if (isStrings(value))
    return (
      <span className="row">
        {[...new Set(value)].map((item) => (
          <code key={item}>
            <ForeignText text={item} />
          </code>
        ))}
      </span>
    );
  if (isMembers(value)) return <ChangeFacts change={value} />;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (name === "address") return <Address address={text} />;
  if (name === "client_id") return <NamedClientId id={text} />;
  return <ForeignText text={text} />;
}

function titleOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

function isMembers(value: unknown): value is object {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).length > 0;
}
