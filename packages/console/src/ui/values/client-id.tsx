/** The id of a client or person. */
export function ClientId({ id }: { id: string | null }) {
  return id === null ? <span className="quiet">the service</span> : <code>{id}</code>;
}
