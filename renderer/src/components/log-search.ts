import { RE2JS } from 're2js';
import { reasonOf } from '../../../server/model/errors.ts';
import { type LogExpression, literal } from './log-expression.ts';

/** The search expression of a log, or its error; undefined without a search. */
export type LogSearch = { expression: LogExpression } | { fault: string } | undefined;

/**
 * Reads what was typed: a literal text or a regular expression; capitals do not matter. An expression can come with a link, so its time
 * must grow with the text only (RE2).
 */
export function logSearch(text: string, isRegex: boolean): LogSearch {
  if (text === '') return undefined;
  try {
    return { expression: isRegex ? RE2JS.compile(text, RE2JS.CASE_INSENSITIVE) : new RegExp(literal(text), 'gi') };
  } catch (failure) {
    const reason = reasonOf(failure)
      .replace(/^error parsing regexp: /, '')
      .replace('(?i)', '');
    return { fault: `Invalid regular expression: ${reason}` };
  }
}
