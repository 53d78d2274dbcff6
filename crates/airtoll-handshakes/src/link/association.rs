//! Association (802.11-2020, 11.3.5), both ends.
//!
//! Takes a [`Link`] at each end and the PMKIDs that the station still caches; gives a request
//! and a response. Never derives a key; reassociation in a fast transition is in
//! `fast_transition`, association with a Diffie-Hellman element in `owe`.

use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Management, ManagementRepr};

use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, status};
use crate::link::agreed::{Link, failure_of_reason, leaving_reason, read_management};
use crate::resend::Resend;

const REPEATS: u8 = 2;

/// The station's end.
pub struct AssociationStation {
    link: Link,
    pmkids: Vec<[u8; 16]>,
    resend: Resend,
    state: Status,
}

impl AssociationStation {
    /// `pmkids` name cached PMKs (802.11-2020, 12.6.10.3).
    #[must_use]
    pub const fn new(link: Link, pmkids: Vec<[u8; 16]>) -> Self {
        Self {
            link,
            pmkids,
            resend: Resend::new(REPEATS),
            state: Status::Waiting,
        }
    }
}

impl Peer for AssociationStation {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let elements = self.link.request_elements(&self.pmkids, &[]);
        let body = ManagementRepr::AssociationRequest(self.link.capability(), 1, &elements);
        let frame = self
            .link
            .management(Party::Station, subtype::ASSOCIATION_REQUEST, &body);
        self.resend.send(
            context,
            Party::Station,
            Party::AccessPoint,
            Carrier::Management,
            frame,
        );
    }

    fn receive(&mut self, message: &Message, _context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        if let Some(reason) = leaving_reason(message) {
            self.state = Status::Failed(failure_of_reason(reason));
            return;
        }
        if let Some((
            _,
            Management::AssociationResponse {
                status, elements, ..
            },
        )) = read_management(message)
        {
            self.state = if status == status::SUCCESS {
                if self.link.names_links(Party::AccessPoint, &elements) {
                    Status::Established(Secrets::new())
                } else {
                    Status::Failed(Failure::ElementMismatch {
                        code: Code::Status(status::UNSPECIFIED),
                    })
                }
            } else {
                Status::Failed(refusal(status))
            };
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        self.resend.on_timeout(context, &mut self.state);
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// The AP's end.
pub struct AssociationAccessPoint {
    link: Link,
    cached: Vec<[u8; 16]>,
    /// A station without a PMKSA that the AP knows is refused: it has not run SAE.
    needs_pmksa: bool,
    patience: Resend,
    state: Status,
}

impl AssociationAccessPoint {
    /// `cached` are the PMKIDs that the AP still knows for this station.
    #[must_use]
    pub const fn new(link: Link, cached: Vec<[u8; 16]>) -> Self {
        Self {
            link,
            cached,
            needs_pmksa: false,
            patience: Resend::new(REPEATS + 2),
            state: Status::Waiting,
        }
    }

    /// The station has not authenticated, so that the AP refuses it without a PMKSA that it knows.
    #[must_use]
    pub const fn needing_pmksa(mut self) -> Self {
        self.needs_pmksa = true;
        self
    }
}

impl Peer for AssociationAccessPoint {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some((subtype::ASSOCIATION_REQUEST, Management::AssociationRequest { elements, .. })) =
            read_management(message)
        else {
            return;
        };
        let mut secrets = Secrets::new();
        let mut answer = status::SUCCESS;
        if elements.find_id(id::SSID) != Some(&self.link.ssid)
            || !self.link.names_links(Party::Station, &elements)
        {
            answer = status::UNSPECIFIED;
        } else if self.link.akm.is_some() {
            let found = if self.link.is_wpa1() {
                elements.find_vendor(airtoll_wire::ieee80211::suite::OUI_WPA, 1)
            } else {
                elements.find_id(id::RSN)
            };
            match offered(found, &self.link) {
                Some(pmkids) => {
                    if let Some(known) = pmkids.iter().find(|p| self.cached.contains(p)) {
                        secrets.insert(SecretName::Pmkid, known.to_vec());
                    } else if self.needs_pmksa {
                        answer = status::INVALID_PMKID;
                    }
                }
                None => answer = status::INVALID_AKMP,
            }
        }
        let mut security = self.link.mobility_element();
        if let Some(mic) = self
            .link
            .key_mic()
            .filter(|_| self.link.mobility_domain.is_some())
        {
            security.extend(self.link.key_holder_element(mic.octets()));
        }
        let rest = self.link.response_elements(answer, &security, &[]);
        let body =
            ManagementRepr::AssociationResponse(self.link.capability(), answer, 0xc001, &rest);
        let frame = self
            .link
            .management(Party::AccessPoint, subtype::ASSOCIATION_RESPONSE, &body);
        self.state = if answer == status::SUCCESS {
            Status::Established(secrets)
        } else {
            Status::Failed(refusal(answer))
        };
        context.send(
            Party::AccessPoint,
            Party::Station,
            Carrier::Management,
            frame,
        );
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.patience.wait() {
            self.state = Status::Failed(Failure::PeerTimeout {
                code: Code::Status(status::TIMEOUT),
            });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// The failure that a status code of a response reports.
const fn refusal(number: u16) -> Failure {
    let code = Code::Status(number);
    match number {
        status::INVALID_PMKID => Failure::UnknownPmksa { code },
        _ => Failure::NothingInCommon { code },
    }
}

/// The PMKIDs of an element that asks for exactly what `link` offers.
fn offered(body: Option<&[u8]>, link: &Link) -> Option<Vec<[u8; 16]>> {
    use airtoll_wire::ieee80211::RsnRepr;
    let body = body?;
    let parse = |body: &[u8]| {
        if link.is_wpa1() {
            RsnRepr::parse_wpa(body).ok()
        } else {
            RsnRepr::parse(body).ok()
        }
    };
    let asked = parse(body)?;
    let own = link.security_element(&[]);
    let own = parse(own.get(if link.is_wpa1() { 6 } else { 2 }..)?)?;
    let same = asked.akms == own.akms
        && asked.pairwise == own.pairwise
        && asked.group == own.group
        && asked.mfpr() == own.mfpr();
    same.then_some(asked.pmkids)
}
