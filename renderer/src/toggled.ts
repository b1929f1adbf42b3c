/** A set with this in it, or without it. */
export function toggled<T>(set: ReadonlySet<T>, member: T, isIn = !set.has(member)): ReadonlySet<T> {
  const next = new Set(set);
  if (isIn) next.add(member);
  else next.delete(member);
  return next;
}
