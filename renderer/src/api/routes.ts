import type { AnswerOf, Verb } from '../../../server/api/routes/route.ts';
import type { emulatorTables } from '../../../server/api/routes/tables.ts';

type RowIn<Table> = Table extends Table ? Table[keyof Table] : never;

/** The form of a route's addresses, such as `get /inspect/leads/${string}`, also with a number in place of the string. */
type AddressOf<Route extends string> = Route extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string | number}${AddressOf<After>}`
  : Route;

/** A union's member that is the same as the type, neither wider nor narrower. */
type SameAs<T, Union> = Union extends Union ? ([T, Union] extends [Union, T] ? Union : never) : never;

type RowAt<Address extends string, Row = RowIn<(typeof emulatorTables)[number]>> = Row extends {
  route: infer Route extends string;
}
  ? [SameAs<Address, AddressOf<Route>>] extends [never]
    ? never
    : Row
  : never;

/** The response type that the server's route declares for the path; unknown if no route matches. */
export type AnswerAt<Method extends Uppercase<Verb>, Path extends string> = [
  RowAt<`${Lowercase<Method>} ${Path}`>,
] extends [never]
  ? unknown
  : AnswerOf<RowAt<`${Lowercase<Method>} ${Path}`>>;
