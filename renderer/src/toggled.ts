/** A set with this in it, or without it. */
export function toggled<T>(set: ReadonlySet<T>, one: T, isIn = !set.has(one)): ReadonlySet<T> {
  const next = new Set(set);
  if (isIn) next.add(one);
  else next.delete(one);
  return next;
}
