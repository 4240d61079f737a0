import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { type Column, TableHead } from "./table-head";

interface VirtualTableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

const rowHeight = 33;

/** A real table of any length, of which only the rows in sight, and a few around them, are in the document. */
export function VirtualTable<Row>({ caption, columns, rows, keyOf }: VirtualTableProps<Row>) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 15,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const items = virtualizer.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section className="scroller tall" ref={scroller} aria-label={caption} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <caption className="visually-hidden">{caption}</caption>
        <TableHead columns={columns} />
        <tbody>
          <Spacer height={before} columns={columns.length} />
          {items.map(({ index, key }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <tr key={key} aria-rowindex={index + 2}>
                {columns.map(({ title, isNumber, isWide, cell }) => (
                  <td key={title} className={isNumber ? "number" : isWide ? "wide" : "one-line"}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Spacer height={after} columns={columns.length} />
        </tbody>
      </table>
    </section>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row is not focusable
    <tr aria-hidden="true" className="spacer">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
