// A table that draws the rows one can see, however many there are. Rows have one height.
import { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Column<T> {
  key: string;
  title: string;
  width?: string;
  number?: boolean;
  label?: string; // where the title is empty
  roomy?: boolean; // only where there is room
  phone?: string; // also where there is hardly any, this wide
  cell: (row: T) => ComponentChildren;
  by?: (row: T) => number | string; // sorts
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string;
  height?: number;
  sort?: { key: string; down: boolean };
  mark?: (row: T) => boolean;
}

const SPARE = 12; // rows drawn above and below what is seen
const FEW = 60; // are drawn all

function compare(a: number | string, b: number | string): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
}

function sorted<T>(rows: T[], columns: Column<T>[], sort?: { key: string; down: boolean }): T[] {
  const by = columns.find((column) => column.key === sort?.key)?.by;
  if (!by || !sort) return rows;
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(by(a), by(b)));
}

function classOf<T>(column: Column<T>): string {
  return `${column.number ? 'n' : ''} ${column.roomy ? 'roomy' : ''} ${column.phone ? '' : 'wider'}`.trim();
}

export function Table<T>({ label, rows, columns, id, height = 32, sort: initial, mark }: Props<T>) {
  const [sort, setSort] = useState(initial);
  const body = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 40]);
  const ordered = sorted(rows, columns, sort);

  const look = () => {
    if (!body.current) return;
    const top = body.current.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(-top / height) - SPARE);
    const last = Math.ceil((window.innerHeight - top) / height) + SPARE;
    setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
  };
  useLayoutEffect(look);
  useEffect(() => {
    window.addEventListener('scroll', look, { passive: true });
    window.addEventListener('resize', look);
    return () => {
      window.removeEventListener('scroll', look);
      window.removeEventListener('resize', look);
    };
  }, []);

  const few = ordered.length <= FEW;
  const first = few ? 0 : Math.min(range[0], ordered.length - 1);
  const last = few ? ordered.length : Math.min(ordered.length, Math.max(range[1], first));
  const turn = (column: Column<T>) => {
    const same = sort?.key === column.key;
    setSort({ key: column.key, down: same ? !sort!.down : Boolean(column.number) });
  };
  return (
    <table class="grid" aria-label={label} aria-rowcount={ordered.length + 1}>
      <colgroup>{columns.map((column) => <col key={column.key} class={classOf(column)} style={{ width: column.width ?? 'auto', '--phone': column.phone ?? '0' }} />)}</colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map((column) => {
            const on = sort?.key === column.key;
            const way = on ? (sort!.down ? 'descending' : 'ascending') : undefined;
            return (
              <th key={column.key} scope="col" class={classOf(column)} aria-sort={way}>
                {column.by ? (
                  <button type="button" onClick={() => turn(column)}>
                    {column.title}<span class="arrow" aria-hidden="true">{on ? (sort!.down ? '↓' : '↑') : ''}</span>
                  </button>
                ) : column.title || <span class="hidden">{column.label}</span>}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody ref={body}>
        {first > 0 && <tr class="gap" aria-hidden="true" key="above"><td colSpan={columns.length} style={{ height: `${first * height}px` }} /></tr>}
        {ordered.slice(first, last).map((row, i) => (
          <tr key={id(row)} aria-rowindex={first + i + 2} style={{ height: `${height}px` }} class={mark?.(row) ? 'marked' : ''}>
            {columns.map((column) => <td key={column.key} class={classOf(column)}>{column.cell(row)}</td>)}
          </tr>
        ))}
        {last < ordered.length && <tr class="gap" aria-hidden="true" key="below"><td colSpan={columns.length} style={{ height: `${(ordered.length - last) * height}px` }} /></tr>}
      </tbody>
    </table>
  );
}
