const paths = {
  overview: 'M3 12h5V3H3zm9 9h9v-9h-9zM12 3v6h9V3zM3 21h5v-6H3z',
  keys: 'M14 10l7-7m-3 3 2.5 2.5M15.5 8.5 17 10M14.5 15a5 5 0 1 1-10 0 5 5 0 0 1 10 0z',
  calls: 'M4 6h16M4 12h16M4 18h10',
  flows: 'M4 4h6v5H4zm10 11h6v5h-6zM7 9v4a4 4 0 0 0 4 4h3',
  executions: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM10 8.5l5.5 3.5-5.5 3.5z',
  playground: 'M4 5h16v11H9l-5 4z',
  usage: 'M4 20V10m6 10V4m6 16v-7m4 7H3',
  statement: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  assets: 'M4 4h16v16H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5a1 1 0 1 0 0-2 1 1 0 0 0 0 2z',
  users: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 9a7 7 0 0 1 14 0M16 4a4 4 0 0 1 0 7m6 9a7 7 0 0 0-4-6.3',
  teams:
    'M12 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM5 22a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm14 0a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 8v4m-7 4v-4h14v4',
  audit: 'M5 3h14v18H5zM9 8h6M9 12h6M9 16h3',
  tokens: 'M4 7h16v10H4zM8 12h.5M12 12h.5M16 12h.5',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12l5 5L20 6',
  close: 'M6 6l12 12M18 6 6 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  scheme: 'M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-8 9a8 8 0 0 1 16 0',
  docs: 'M5 4h10l4 4v12H5zM9 12h6M9 16h6',
  wallet: 'M3 7h16v13H3zM3 7l12-4v4m1 6h.5',
  down: 'M6 9l6 6 6-6',
  search: 'M17 10.5a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM15.5 15.5 21 21',
  refusals: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM6 6l12 12',
  notices: 'M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21.5h4',
} as const
export type IconName = keyof typeof paths

/** Decorative icon, hidden from assistive technology; text next to it carries the meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
