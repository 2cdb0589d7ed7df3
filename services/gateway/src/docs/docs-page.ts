/** A page of the documentation, as it is written. */
export interface DocsPage {
  /** Such as `/docs/money`; its Markdown is at `/docs/money.md`. */
  address: string
  title: string
  markdown: string
}
