/** Something that the palette leads to or does. */
export interface Command {
  id: string
  /** By what it is found, and read. */
  title: string
  kind: 'Screen' | 'Action' | 'Key' | 'Flow' | 'Project'
  run(): void
}
