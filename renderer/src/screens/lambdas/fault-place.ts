import type { EditorProblem } from '../../components/editor-props.ts';
import type { RunResult } from './runs.ts';

/** A place in the lambda's code, both from 1. */
export interface FaultPlace {
  line: number;
  column: number;
}

const SYNTAX_ERROR = /^syntax error in \S+, line (\d+), column (\d+):/;

/**
 * Returns the position in the lambda's one file of code where a run failed: from the message, or from the first frame
 * of a stack trace in the log.
 */
export function faultPlaceOf({
  outcome,
  logs,
  lambdaId,
}: Pick<RunResult, 'outcome' | 'logs' | 'lambdaId'>): FaultPlace | undefined {
  if (outcome.ok) return undefined;
  const syntax = SYNTAX_ERROR.exec(outcome.message ?? '');
  if (syntax) return placeOf(syntax);
  for (const { stream, text } of logs) {
    if (stream !== 'stderr' || !text.includes(lambdaId)) continue;
    const frame = /index\.js:(\d+):(\d+)\)?$/.exec(text);
    if (frame) return placeOf(frame);
  }
  return undefined;
}

function placeOf([, line, column]: RegExpExecArray): FaultPlace {
  return { line: Number(line), column: Number(column) };
}

/** Returns the failed line as a problem to mark in an editor, without its indentation. */
export function problemAt(
  source: string,
  { line }: Pick<FaultPlace, 'line'>,
  message: string,
): EditorProblem | undefined {
  let from = 0;
  for (let at = 1; at < line; at += 1) {
    from = source.indexOf('\n', from) + 1;
    if (from === 0) return undefined;
  }
  const end = source.indexOf('\n', from);
  const text = source.slice(from, end < 0 ? source.length : end);
  return { from: from + text.length - text.trimStart().length, to: from + text.trimEnd().length, message };
}
