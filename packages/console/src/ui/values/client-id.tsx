import { useClientName } from "../../api/client-names";
import { ForeignText } from "./foreign-text";
import { ShortId } from "./short-id";

/**
 * A client or person in a list: the name, and the end of the id. Names need not be unique, and clients choose their own, so a name alone does
 * not say who it was. A long name is cut, and never the id.
 */
export function ClientId({ id }: { id: string | null }) {
  const named = useClientName(id);
  if (id === null) return <span className="quiet">the service</span>;
  if (named === undefined) return <code>{id}</code>;
  return (
    <span className="client">
      <span className="client-name">
        <ForeignText text={named.name} limit={60} />
      </span>
      <Kind kind={named.kind} />
      <ShortId id={id} />
    </span>
  );
}

/** The name, and whether it is that of a program; nothing if it is not known. The id stands beside it. */
export function ClientName({ id }: { id: string | null }) {
  const named = useClientName(id);
  return named === undefined ? null : (
    <>
      <ForeignText text={named.name} limit={60} />
      <Kind kind={named.kind} />
    </>
  );
}

/** The name and the id. */
export function NamedClientId({ id }: { id: string | null }) {
  return id === null ? (
    <ClientId id={id} />
  ) : (
    <>
      <ClientName id={id} /> <code>{id}</code>
    </>
  );
}

/** A program can be named like a person. */
function Kind({ kind }: { kind: "program" | "person" }) {
  return kind === "program" && <span className="quiet small"> program</span>;
}
