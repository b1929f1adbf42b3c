import type { z } from 'zod';
import { jsonIn } from '../model/json.ts';
import type { AnswerOf, BodyOf, PathOf, Row } from './row.ts';

type AnyRow = Omit<Row, 'tag'>;

/** What is sent besides verb and address. */
export interface Sent<Content = string> {
  body?: { type: string; content: Content };
}

/** What a route is sent. */
export type Asked<R extends AnyRow, Call> = Call & {
  path?: PathOf<R>;
  query?: URLSearchParams | Readonly<Record<string, string>>;
  /** As JSON. */
  json?: BodyOf<R> extends object ? z.input<NonNullable<R['body']>['schema']> : never;
};

/** Asks a platform by the rows of the contract, and holds what it answers against them; how to reach it is its heir's to know. */
export abstract class RowClient<Call extends Sent<unknown> = Sent> {
  abstract readonly baseUrl: string;

  /**
   * @param path below `{base_url}`, with its query
   * @returns the body of the answer; rejects when it is a refusal or none comes
   */
  abstract text(method: string, path: string, call?: Call): Promise<string>;

  /** What to throw of an answer that does not fit its row. @param reason a sentence */
  protected abstract notUnderstood(reason: string): Error;

  /** What a route of the contract answers. Rejects as `text`, and when its row says otherwise. */
  async ask<R extends AnyRow>(row: R, asked?: Asked<R, Call>): Promise<AnswerOf<R>> {
    const { path: names = {}, query, json, ...call } = asked ?? ({} as Asked<R, Call>); // all of it may be left out
    const [verb = '', pattern = ''] = row.route.split(' ');
    const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(Object(names)[name]));
    const address = query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
    const text = await this.text(verb.toUpperCase(), address, { ...call, ...(json && jsonBody(json)) } as Call); // a call with that body
    const answer = jsonIn(text);
    if (isAnswer(row, answer)) return answer;
    throw this.#misfit(path);
  }

  /**
   * The JSON that a call is answered with, where no row is written for just that.
   *
   * @param schema what of it is used; loose, where all of it is to be printed
   */
  async json<T>(method: string, path: string, schema: z.ZodType<T>, call?: Call): Promise<T> {
    const { success, data } = schema.safeParse(jsonIn(await this.text(method, path, call)));
    if (success) return data;
    throw this.#misfit(path);
  }

  #misfit(path: string): Error {
    return this.notUnderstood(
      `${this.baseUrl}${path} answers what this version does not understand: is it a Terrarium, and of the same version?`,
    );
  }
}

/** A JSON body of a call. */
export function jsonBody(content: unknown): Required<Sent> {
  return { body: { type: 'application/json', content: JSON.stringify(content) } };
}

function isAnswer<R extends AnyRow>({ answer }: R, value: unknown): value is AnswerOf<R> {
  return answer?.schema?.safeParse(value).success ?? true;
}
