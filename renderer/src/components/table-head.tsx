/** The head of a column: its words, its width and the like, and whether only those who listen need it. */
export type Head = string | { text: string; className?: string; isHidden?: boolean };

/** The heads of a table. @param cell the padding of its cells */
export function TableHead({ heads, cell = 'px-2' }: { heads: readonly Head[]; cell?: string }) {
  return (
    <thead>
      <tr className="h-7 border-b border-line text-left text-small whitespace-nowrap text-faint">
        {heads.map((head) => {
          const { text, className = '', isHidden = false } = typeof head === 'string' ? { text: head } : head;
          return (
            <th key={text} className={`font-normal ${cell} ${className}`}>
              {isHidden ? <span className="sr-only">{text}</span> : text}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
