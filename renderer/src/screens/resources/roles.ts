/** The roles that one can give, largest last, and taking them. */
export const ROLE_CHOICES = [
  { id: 'viewer', text: 'Viewer', note: 'Sees everything here and below' },
  { id: 'developer', text: 'Developer', note: 'And makes, changes and runs lambdas, APIs, containers, secrets' },
  { id: 'owner', text: 'Owner', note: 'May do everything, and give rights' },
  { id: 'none', text: 'None', note: 'Takes what was given here; what is inherited stays' },
];
