/** An action of D-116 on what a request names. */
export interface Permission {
  /** `noun.verb`; `*` stands for the noun of the type that the resource is of. */
  action: string;
  /**
   * The parameter of the path or the query, or the member of the body, that names the resource; `root` is the root organization,
   * `parent` what the resource of the path stands in.
   */
  on: string;
  /** Need whoever it is about not have it? Of their own account everybody sees all and changes some (D-117). */
  isNotOfOwn?: true;
}

/**
 * What a route asks of its caller: nothing at all, to be known (who then sees and ends what is theirs), to be the root user, or
 * all of these permissions (D-117, D-118).
 */
export type Right = 'none' | 'caller' | 'root' | readonly Permission[];

/** The permission to do something to what the request names. */
export function may(action: string, on: string): readonly Permission[] {
  return [{ action, on }];
}

/** The same, unless it is the caller's own account. */
export function mayOrOwn(action: string, on: string): readonly Permission[] {
  return [{ action, on, isNotOfOwn: true }];
}

/** Takes the right to see everything: what is asked of whoever looks at the whole platform. */
export const SEES_ALL: readonly Permission[] = may('org.view', 'root');
