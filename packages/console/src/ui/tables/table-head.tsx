import type { ReactNode } from "react";

export interface Column<Row> {
  title: string;
  isNumber?: boolean;
  /** Whether all of it is shown, as of an address, on more than one line if need be. */
  isWide?: boolean;
  cell: (row: Row) => ReactNode;
}

/** The names of a table's columns. */
export function TableHead({ columns }: { columns: readonly Pick<Column<unknown>, "title" | "isNumber">[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, isNumber }) => (
          <th key={title} scope="col" className={isNumber ? "number" : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
