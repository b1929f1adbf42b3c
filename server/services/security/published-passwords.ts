/** Passwords that earlier versions of Terrarium gave to root and to the users of the demo world. Everyone knows them (D-220). */
export const PUBLISHED: readonly { user: string; password: string }[] = [
  { user: 'root', password: 'terrarium' },
  { user: 'ada.byrne', password: 'ada-demo' },
  { user: 'milo.tanaka', password: 'milo-demo' },
  { user: 'ci-service', password: 'ci-demo' },
];

export const isPublished = (password: string): boolean =>
  PUBLISHED.some((published) => published.password === password);
