import { Scroller } from "./scroller";
import { type Column, TableHead } from "./table-head";

interface SimpleTableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Whether it scrolls after a few rows. */
  isShort?: boolean;
}

/** A real table of a few rows, all in the document. A page has the caption as a heading, so it is read and not shown. */
export function SimpleTable<Row>({ caption, columns, rows, keyOf, isShort = false }: SimpleTableProps<Row>) {
  return (
    <Scroller label={`Table: ${caption}`} isShort={isShort}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, isWide, cell }) => (
                <td key={title} className={isNumber ? "number" : isWide ? "wide" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}
