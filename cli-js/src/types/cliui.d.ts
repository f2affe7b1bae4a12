/** The part of cliui that is used; the package has no types of its own. */
declare module 'cliui' {
  interface Column {
    text: string;
    /** Columns of the terminal, padding included. */
    width?: number;
    align?: 'left' | 'right' | 'center';
    /** Top, right, bottom, left. */
    padding?: readonly [number, number, number, number] | readonly number[];
  }

  interface Layout {
    /** Adds a row. */
    div(...columns: Column[]): void;
    toString(): string;
  }

  export default function cliui(options: { width: number; wrap: boolean }): Layout;
}
