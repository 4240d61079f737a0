import { ForeignText } from "../../ui/values/foreign-text";
import type { Change } from "./entry-objects";

/** The entry itself has all of them. */
const shownMax = 3;
const valueShownMax = 60;

/** What an entry says was changed. Each is an element of its own, so that a name cannot look like another change. */
export function Changes({ changes }: { changes: readonly Change[] }) {
  const left = changes.length - shownMax;
  return (
    <ul className="changes small" aria-label="Changes">
      {changes.slice(0, shownMax).map(({ name, value }) => (
        <li key={`${name}:${value}`}>
          <span className="quiet">{name.replaceAll("_", " ")}</span>{" "}
          <q>
            <ForeignText text={value} limit={valueShownMax} />
          </q>
        </li>
      ))}
      {left > 0 && <li className="quiet">and {left} more</li>}
    </ul>
  );
}
