/** A table of Markdown. @param rows cells of text or Markdown; `|` and line breaks in them are escaped */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** A sentence that begins with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Amounts as people read them: `10 MiB`, `8 hours`. */
export function amount(value: number, name: string): string {
  if (/(?<!mega)bytes$/i.test(name)) {
    for (const [unit, size] of [
      ['GiB', 2 ** 30],
      ['MiB', 2 ** 20],
      ['KiB', 2 ** 10],
    ] as const) {
      if (value >= size && value % size === 0) return `${value / size} ${unit}`;
    }
  }
  if (/S$/.test(name) && value % 3600 === 0) return `${value / 3600} hours`;
  return String(value);
}

/** The members of a list by a name, in the order of the list. */
export function groupsOf<T>(members: readonly T[], nameOf: (member: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const member of members) groups.set(nameOf(member), [...(groups.get(nameOf(member)) ?? []), member]);
  return groups;
}
