/** A page of a list, newest first. */
export interface PageOf<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** A list that is read page by page, as far as it is iterated. */
export interface List<Item, Page> extends AsyncIterable<Item> {
  /** The first page, or the one that the query's `cursor` names. */
  page: () => Promise<Page>;
  /** All pages from there on. */
  pages: () => AsyncIterable<Page>;
}

/** Reads pages until there is none after the last; `next` gives the position after a page. */
export function createList<Item, Page extends { data: Item[] }, Position>(
  read: (position: Position | undefined) => Promise<Page>,
  next: (page: Page) => Position | undefined,
): List<Item, Page> {
  async function* pages(): AsyncGenerator<Page, void, undefined> {
    let position: Position | undefined;
    do {
      const page = await read(position);
      yield page;
      position = next(page);
    } while (position !== undefined);
  }
  return {
    page: () => read(undefined),
    pages,
    [Symbol.asyncIterator]: async function* items() {
      for await (const page of pages()) yield* page.data;
    },
  };
}

/** A list whose pages name the cursor of the next one. */
export function createCursorList<Page extends PageOf<unknown>>(
  read: (query: { cursor?: string }) => Promise<Page>,
): List<Page["data"][number], Page> {
  return createList<Page["data"][number], Page, string>(
    (cursor) => read(cursor === undefined ? {} : { cursor }),
    ({ next_cursor }) => next_cursor ?? undefined,
  );
}
