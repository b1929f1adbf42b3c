import { useMemo, useState } from 'react';
import { Time } from '../../components/amount.tsx';
import { bytesText, counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { logEntries } from './log-entries.ts';
import type { RunResult } from './runs.ts';

type Lines = RunResult['logs'];

/** Limits of what is drawn before the user asks for more. */
const SHOWN_LINES = 400;
const SHOWN_CHARS = 60_000;

/** The output of a run. Of a very long output it shows only the beginning, until the user asks for all. */
export function RunLog({ lines }: { lines: Lines }) {
  const [isWhole, setWhole] = useState(false);
  const visibleLines = isWhole ? lines : collapsed(lines);
  const text = useMemo(() => lines.map((line) => line.text).join('\n'), [lines]);
  return (
    <section aria-label="Log">
      <div className="mb-1 flex min-h-6 items-center gap-2">
        <h3 className="eyebrow">Log</h3>
        <span className="text-small text-muted">{counted(lines.length, 'line')}</span>
        <Copy text={text} subject="log" />
      </div>
      <ol className="rounded-md border border-line bg-raised px-2 py-1">
        {logEntries(visibleLines).map(({ at, stream, text: line, foldedFrames }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of an ended run do not change
          <li key={index} className={`mono flex gap-3 ${stream === 'stderr' ? 'text-error' : ''}`}>
            <span className="shrink-0 text-faint">
              <Time at={at} as="clock" />
            </span>
            {stream === 'stderr' && <span className="sr-only">Standard error: </span>}
            <span className="min-w-0 break-words whitespace-pre-wrap">
              {line}
              {foldedFrames.length > 0 && (
                <details className="text-faint">
                  <summary className="cursor-default">
                    {counted(foldedFrames.length, 'frame')} of Node.js and the emulator
                  </summary>
                  {foldedFrames.join('\n')}
                </details>
              )}
            </span>
          </li>
        ))}
      </ol>
      {visibleLines.length < lines.length && (
        <Button className="mt-1.5" onPress={() => setWhole(true)}>
          Show all {lines.length.toLocaleString('en')} lines, {bytesText(text.length)}
        </Button>
      )}
    </section>
  );
}

/** The first lines that are drawn at once, at least one. */
function collapsed(lines: Lines): Lines {
  let chars = 0;
  const end = lines.findIndex(({ text }, index) => {
    chars += text.length;
    return index > 0 && (index >= SHOWN_LINES || chars > SHOWN_CHARS);
  });
  return end < 0 ? lines : lines.slice(0, end);
}
