/** The parts of a printed line that decide its grouping. */
interface PrintedLine {
  stream: 'stdout' | 'stderr';
  text: string;
  /** The replica that printed it; lines of several are mixed. */
  instance?: string | undefined;
}

/** A line that was printed, or a whole stack trace with its message. */
export type LogEntry<Line extends PrintedLine> = Line & {
  /** Frames of Node.js and the emulator, which are folded. */
  foldedFrames: readonly string[];
};

const FRAME = /^\s+at /;
/** Frames in Node.js and in the process that runs lambdas. */
const FOREIGN = /[( ]node:|\/dist\/server\/|\/node_modules\/terrarium-emulator\//;

/** Groups the lines of stack traces. @param isFolding without it, all frames stay in the text */
export function logEntries<Line extends PrintedLine>(lines: readonly Line[], isFolding = true): LogEntry<Line>[] {
  const entries: LogEntry<Line>[] = [];
  /** The index of the newest entry of each instance, and whether it is a trace. */
  const newest = new Map<string | undefined, { index: number; isTrace: boolean }>();
  for (const line of lines) {
    const { instance, stream, text } = line;
    const before = newest.get(instance);
    const last = before && entries[before.index];
    const isFrame = FRAME.test(text);
    if (last && last.stream === stream && (isFrame || (before.isTrace && /^\s*[{}[\]]|^\s+\w+:/.test(text)))) {
      before.isTrace = true;
      entries[before.index] =
        isFolding && isFrame && FOREIGN.test(text)
          ? { ...last, foldedFrames: [...last.foldedFrames, text.trim()] }
          : { ...last, text: `${last.text}\n${text}` };
      continue;
    }
    newest.set(instance, { index: entries.length, isTrace: false });
    entries.push({ ...line, foldedFrames: [] });
  }
  return entries;
}
