import { errorCodes } from '../../server/model/error-codes.ts';
import { code, table } from './markdown.ts';

/** The table of all error codes. */
export function allErrorCodes(): string {
  const rows = Object.entries(errorCodes).map(([name, { status, meaning }]) => [code(name), String(status), meaning]);
  return table(['reason', 'status', 'meaning'], rows);
}
