/** Navigation target or action of the palette. */
export interface Command {
  id: string
  /** Searched and shown. */
  title: string
  kind: 'Screen' | 'Action' | 'Key' | 'Flow' | 'Project'
  run(): void
}
