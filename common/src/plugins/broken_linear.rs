//! The scoring function of a `shape` in the configuration, from utilization to a score; kube-scheduler calls it a broken linear
//! function.

use crate::config::ShapePoint;
use crate::framework::SCORE_MAX;

/// The highest score of a point in the configuration.
const POINT_MAX: i64 = 10;

/// The score at `utilization`: linear between the points, constant outside them.
pub(super) fn broken_linear(points: &[ShapePoint], utilization: i64) -> i64 {
    let point =
        |point: &ShapePoint| (i64::from(point.utilization), i64::from(point.score) * (SCORE_MAX / POINT_MAX));
    let mut before: Option<(i64, i64)> = None;
    for (x, y) in points.iter().map(point) {
        if utilization <= x {
            let on =
                |(x0, y0): (i64, i64)| y0 + ((y - y0) * (utilization - x0)).checked_div(x - x0).unwrap_or(0);
            return before.map_or(y, on);
        }
        before = Some((x, y));
    }
    before.map_or(0, |(_, y)| y)
}
