/** The end of an id is random, its beginning is the time. */
const shownCharacters = 8;

/** An id beside the name of what it stands for: its end, and all of it in the title. */
export function ShortId({ id }: { id: string }) {
  return (
    <>
      {" "}
      <code className="quiet" title={id}>
        …{id.slice(-shownCharacters)}
      </code>
    </>
  );
}
