//! The board for Grafana: `packaging/grafana/pombo.json` is written from [`ROWS`](super::panels::ROWS).

use serde_json::{Value, json};

use super::panels::ROWS;

/// A row of panels under a title.
#[derive(Debug)]
pub(super) struct PanelRow {
    pub(super) title: &'static str,
    pub(super) panels: &'static [Panel],
}

/// A panel of the board.
#[derive(Debug)]
pub(super) struct Panel {
    is_stat: bool,
    title: &'static str,
    description: &'static str,
    unit: &'static str,
    /// Of the 24 columns of the board.
    width: u64,
    /// Queries, each with its legend.
    queries: &'static [(&'static str, &'static str)],
    is_stacked: bool,
    /// The colour from 1 on.
    warns: Option<&'static str>,
}

impl Panel {
    /// One figure.
    pub(super) const fn stat(
        title: &'static str,
        unit: &'static str,
        width: u64,
        queries: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { is_stat: true, ..Self::series(title, unit, width, queries) }
    }

    /// A chart over time.
    pub(super) const fn series(
        title: &'static str,
        unit: &'static str,
        width: u64,
        queries: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { is_stat: false, title, description: "", unit, width, queries, is_stacked: false, warns: None }
    }

    pub(super) const fn says(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    pub(super) const fn stacked(self) -> Self {
        Self { is_stacked: true, ..self }
    }

    pub(super) const fn warns(self, colour: &'static str) -> Self {
        Self { warns: Some(colour), ..self }
    }

    const fn height(&self) -> u64 {
        if self.is_stat { 5 } else { 8 }
    }

    /// The queries, as Grafana takes them.
    pub(super) fn expressions(&self) -> impl Iterator<Item = String> {
        let whole = |query: &str| {
            query.replace("$on", r#"instance=~"$instance""#).replace("$each", "$__rate_interval")
        };
        self.queries.iter().map(move |(query, _)| whole(query))
    }

    fn json(&self, id: u64, (left, top): (u64, u64)) -> Value {
        let source = json!({ "type": "prometheus", "uid": "${datasource}" });
        let refs = ('A'..='Z').map(String::from);
        let legends = self.queries.iter().map(|(_, legend)| *legend);
        let targets = refs.zip(self.expressions()).zip(legends).map(|((reference, expression), legend)| {
            json!({ "refId": reference, "expr": expression, "legendFormat": legend, "datasource": source })
        });
        let targets: Vec<_> = targets.collect();
        let mut defaults = json!({ "unit": self.unit, "min": 0 });
        if let Some(colour) = self.warns {
            let steps = json!([{ "color": "green", "value": null }, { "color": colour, "value": 1 }]);
            defaults["thresholds"] = json!({ "mode": "absolute", "steps": steps });
        }
        let options = if self.is_stat {
            let reduced = json!({ "calcs": ["lastNotNull"], "fields": "", "values": false });
            json!({ "colorMode": "value", "reduceOptions": reduced })
        } else {
            let stacking = json!({ "mode": if self.is_stacked { "normal" } else { "none" } });
            defaults["custom"] = json!({ "fillOpacity": 10, "showPoints": "never", "stacking": stacking });
            json!({
                "legend": { "displayMode": "list", "placement": "bottom", "showLegend": true },
                "tooltip": { "mode": "multi", "sort": "desc" },
            })
        };
        json!({
            "id": id,
            "type": if self.is_stat { "stat" } else { "timeseries" },
            "title": self.title,
            "description": self.description,
            "datasource": source,
            "gridPos": { "h": self.height(), "w": self.width, "x": left, "y": top },
            "fieldConfig": { "defaults": defaults, "overrides": [] },
            "options": options,
            "targets": targets,
        })
    }
}

/// The columns of the board.
const COLUMNS: u64 = 24;

/// The board as Grafana imports it.
pub(super) fn json() -> Value {
    let (mut panels, mut top) = (Vec::new(), 0);
    for row in ROWS {
        let id = panels.len() as u64 + 1;
        panels.push(json!({
            "id": id,
            "type": "row",
            "title": row.title,
            "collapsed": false,
            "gridPos": { "h": 1, "w": COLUMNS, "x": 0, "y": top },
            "panels": [],
        }));
        top += 1;
        let (mut left, mut height) = (0, 0);
        for panel in row.panels {
            if left + panel.width > COLUMNS {
                (left, top, height) = (0, top + height, 0);
            }
            panels.push(panel.json(panels.len() as u64 + 1, (left, top)));
            left += panel.width;
            height = height.max(panel.height());
        }
        top += height;
    }
    let instances = json!({ "query": "label_values(pombo_connections, instance)", "refId": "instance" });
    json!({
        "uid": "pombo",
        "title": "Pombo",
        "description": "The state of a Pombo service, from its documented metrics. Written by `pombo explain --board`.",
        "tags": ["pombo"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "refresh": "30s",
        "time": { "from": "now-6h", "to": "now" },
        "timezone": "browser",
        "annotations": { "list": [] },
        "links": [],
        "templating": { "list": [
            {
                "name": "datasource",
                "label": "Data source",
                "type": "datasource",
                "query": "prometheus",
                "refresh": 1,
                "hide": 0,
            },
            {
                "name": "instance",
                "label": "Instance",
                "type": "query",
                "datasource": { "type": "prometheus", "uid": "${datasource}" },
                "query": instances,
                "refresh": 2,
                "multi": true,
                "includeAll": true,
                "allValue": ".*",
                "current": { "text": "All", "value": "$__all" },
                "hide": 0,
            },
        ] },
        "panels": panels,
    })
}
