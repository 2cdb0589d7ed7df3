/** Texts for screen readers on the canvas. */
export const canvasLabels = {
  'node.a11yDescription.default':
    'Enter opens the form of the node. Arrow keys move it while it is chosen. Delete takes it away. Tab leads to its ports.',
  'node.a11yDescription.keyboardDisabled': 'Enter opens the form of the node.',
  'node.a11yDescription.ariaLiveMessage': ({ direction, x, y }: { direction: string; x: number; y: number }) =>
    `Moved ${direction}, to ${Math.round(x)} and ${Math.round(y)}.`,
  'edge.a11yDescription.default': 'Enter chooses the edge, Delete takes it away.',
  'controls.ariaLabel': 'Zoom',
  'controls.zoomIn.ariaLabel': 'Zoom in',
  'controls.zoomOut.ariaLabel': 'Zoom out',
  'controls.fitView.ariaLabel': 'Show all',
  'controls.interactive.ariaLabel': 'Lock the canvas',
  'minimap.ariaLabel': 'Overview of the flow',
  'handle.ariaLabel': 'Port',
}
