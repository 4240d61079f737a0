import { useClientName } from "../../api/client-names";
import { ForeignText } from "./foreign-text";

/** A client or person in a list: the name, and the id for those who point at it. Names need not be unique, so pages of one object show both. */
export function ClientId({ id }: { id: string | null }) {
  const name = useClientName(id);
  if (id === null) return <span className="quiet">the service</span>;
  if (name === undefined) return <code>{id}</code>;
  return (
    <span title={id}>
      <ForeignText text={name} limit={60} />
    </span>
  );
}

/** The name alone; nothing if it is not known. */
export function ClientName({ id }: { id: string | null }) {
  const name = useClientName(id);
  return name === undefined ? null : <ForeignText text={name} limit={60} />;
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
