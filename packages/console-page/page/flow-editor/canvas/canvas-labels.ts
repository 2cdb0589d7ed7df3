/** Screen reader texts of the canvas. */
export const canvasLabels = {
  'node.a11yDescription.default':
    'Press Enter to edit the node, arrow keys to move it, Delete to remove it, Tab to reach its ports.',
  'node.a11yDescription.keyboardDisabled': 'Press Enter to edit the node.',
  'node.a11yDescription.ariaLiveMessage': ({ direction, x, y }: { direction: string; x: number; y: number }) =>
    `Moved ${direction} to ${Math.round(x)}, ${Math.round(y)}.`,
  'edge.a11yDescription.default': 'Press Enter to select the edge, Delete to remove it.',
  'controls.ariaLabel': 'Zoom',
  'controls.zoomIn.ariaLabel': 'Zoom in',
  'controls.zoomOut.ariaLabel': 'Zoom out',
  'controls.fitView.ariaLabel': 'Fit view',
  'controls.interactive.ariaLabel': 'Lock the canvas',
  'minimap.ariaLabel': 'Overview of the flow',
  'handle.ariaLabel': 'Port',
}
