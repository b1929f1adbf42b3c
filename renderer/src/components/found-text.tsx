import { type LogExpression, partsOf } from './log-expression.ts';

export function FoundText({ text, expression }: { text: string; expression: LogExpression | undefined }) {
  if (!expression) return text;
  return partsOf(text, expression).map(({ at, text: part, isFound }) =>
    isFound ? (
      <mark key={at} className="rounded-[2px] bg-warn text-bg">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}
