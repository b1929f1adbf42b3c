export function isSameList(list: readonly string[], otherList: readonly string[]): boolean {
  if (list.length !== otherList.length) return false;
  for (let index = 0; index < list.length; index++) if (list[index] !== otherList[index]) return false;
  return true;
}
