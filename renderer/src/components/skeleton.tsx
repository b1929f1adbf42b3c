export function Skeleton({ rows = 8, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div role="status" className="flex flex-col">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike
        <div key={row} aria-hidden className="flex h-[30px] items-center gap-4 border-b border-line/50 px-3">
          <span className="pulse h-2.5 w-16 rounded bg-line" />
          <span className="pulse h-2.5 rounded bg-line" style={{ width: `${22 + ((row * 17) % 34)}%` }} />
          <span className="pulse ml-auto h-2.5 w-12 rounded bg-line" />
        </div>
      ))}
    </div>
  );
}
